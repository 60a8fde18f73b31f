// The served page: a frame that its script fills.
/**
 * The page's Content-Security-Policy: only its own files, and no text that becomes markup or
 * script.
 */
export const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  requireTrustedTypesFor: ["'script'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/**
 * The start page: a frame that the page's script fills. Addresses are relative, so that the page
 * works below any path of a proxy. `shard` is text such as `1 of 3`.
 */
export function pageText(version: string, shard?: string): string {
  const place = shard === undefined ? '' : ` data-shard="${shard}"`;
  return `<!doctype html>
<html lang="en" data-version="${version}"${place}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>Game servers</title>
    <link rel="icon" href="assets/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="assets/page.css">
    <script type="module" src="assets/page.js"></script>
  </head>
  <body>
    <noscript>
      <p>This page requires JavaScript. The same data is available as <a href="api/v1/servers">JSON</a>.</p>
    </noscript>
    <div id="page"></div>
  </body>
</html>
`;
}
