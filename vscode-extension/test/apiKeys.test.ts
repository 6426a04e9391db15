// Which key a failure asks for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingVariable } from '../src/missingKey';

test('a failure names the variable of the key that is missing', () => {
  const message = 'API key for provider "openai" is not configured (set OPENAI_API_KEY or add to config.toml)';
  assert.equal(missingVariable(message), 'OPENAI_API_KEY');
});

test('other failures name none', () => {
  assert.equal(missingVariable('auth: OPENAI_API_KEY is not valid (set it)'), undefined);
});
