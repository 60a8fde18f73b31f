/** The names of the dialects, as the setting `panel` has them. */
export const DIALECT_NAMES = ['pterodactyl', 'hydrodactyl', 'calagopus'] as const;
