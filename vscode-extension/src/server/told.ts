// What a command of the server's program prints.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Server } from './programs';

/** Fails with what the program says on its standard error. */
export async function told({ command, args }: Server, ...given: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, [...args, ...given], { windowsHide: true })).stdout;
  } catch (error) {
    throw error instanceof Error && 'stderr' in error && error.stderr ? new Error(String(error.stderr).trim()) : error;
  }
}
