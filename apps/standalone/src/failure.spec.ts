import { DataDirectoryError } from '@manyhands/adapter-embedded';
import { KeyServiceError, SandboxError, TopicError } from '@manyhands/ports';
import { describe, expect, it } from 'vitest';
import { describeFailure } from './failure.ts';

describe('a start that fails', () => {
  it.each<[Error, number]>([
    [new TopicError('damaged', 'The log is damaged.'), 5],
    [new TopicError('identity-mismatch', 'The log has other partitions.'), 5],
    [new KeyServiceError('The key does not open the log.'), 5],
    [new SandboxError('unavailable', 'no space left on the disk of /data'), 1],
    [new TopicError('unavailable', 'The disk of the log /data/log.db is full.'), 1],
    [Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' }), 1],
    [new TopicError('unavailable', 'The log /data/log.db cannot be used: disk I/O error.'), 1],
  ])('with %s says so without a stack', (error, exitCode) => {
    const failure = describeFailure(error);
    expect(failure.exitCode).toBe(exitCode);
    expect(failure.message).toContain(error.message);
    expect(failure.message).not.toMatch(/^ +at /m);
    expect(failure.message).not.toContain('--unsafe-no-isolation');
  });

  it('for want of space names the disk', () => {
    const reason = Object.assign(new Error('write failed'), { code: 'ENOSPC' });
    const { message } = describeFailure(
      new DataDirectoryError('unusable', 'The file cannot be made.', { cause: reason }),
    );
    expect(message).toMatch(/^The file cannot be made\.\nNo space is left on the disk/);
  });

  it('without a sandbox says how to do without', () => {
    const failure = describeFailure(new SandboxError('no-isolation', 'unshare failed: No space left on device'));
    expect(failure).toMatchObject({ exitCode: 6, message: expect.stringContaining('--unsafe-no-isolation') as string });
  });
});
