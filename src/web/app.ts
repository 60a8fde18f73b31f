import { Page } from './page.ts';
import { Stream } from './stream.ts';

const page = new Page();
new Stream('api/v1/stream', page).start();
