// Sums the JSON reports that the vitest runs left in a folder into one plain last line.
// Usage: node tools/sum-reports.mjs <folder> <exit code of the whole run>
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [folder = '', exitCode = '0'] = process.argv.slice(2);
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];

let passed = 0;
let failed = 0;
let skipped = 0;
for (const file of files) {
  const { testResults } = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  for (const { status, assertionResults } of testResults) {
    for (const test of assertionResults) {
      if (test.status === 'passed') passed++;
      else if (test.status === 'failed') failed++;
      else skipped++;
    }
    // A file that did not load, or a hook that threw, fails without a failed test.
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) failed++;
  }
}

if (exitCode !== '0' && failed === 0) {
  console.log('A step other than a test failed; see above.');
  failed = 1;
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
