import assert from 'node:assert/strict';
import test from 'node:test';
import { page } from '../src/webviews/page';

const skeleton = { script: 'https://host/a.js', styles: ['https://host/a.css'], source: 'https://host', nonce: 'n0', language: 'en' };

test('a page runs its own script and loads nothing from elsewhere', () => {
  const html = page({ ...skeleton, title: 'Runs' });

  assert.match(html, /content="default-src 'none'; style-src https:\/\/host; script-src 'nonce-n0'"/);
  assert.match(html, /<script nonce="n0" src="https:\/\/host\/a.js"><\/script>/);
  assert.match(html, /<link rel="stylesheet" href="https:\/\/host\/a.css">/);
});

test('a title is text, whatever an agent is called', () => {
  const html = page({ ...skeleton, title: '"><script>alert(1)</script>' });

  assert.ok(!html.includes('<script>'));
  assert.match(html, /aria-label="&quot;&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;"/);
});
