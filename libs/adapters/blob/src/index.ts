export { DirectoryBlobStore } from './directory-blob-store.ts';
