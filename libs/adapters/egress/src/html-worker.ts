/** The thread that turns one page into text, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { htmlToPageText } from './html-text.ts';

const { html, url } = workerData as { html: string; url: string };
parentPort?.postMessage(htmlToPageText(html, url));
