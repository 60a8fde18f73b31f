// Starts the page in the browser's window.
import { Page } from './page.tsx';

new Page().start();
