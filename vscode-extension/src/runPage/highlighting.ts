// Code of an answer in pieces that have colours of their own. Knows no document.

import type { Emitter } from 'highlight.js';
import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** Characters of a block that has colours: a longer one would hold up the page. */
const MOST = 30_000;

/** A piece of code, with the kind of its innermost part, such as `string` or `title.function`; empty for other code. */
export interface Piece {
  readonly text: string;
  readonly kind: string;
}

/** Collects pieces in place of HTML, so that code never is markup. */
class Pieces implements Emitter {
  readonly all: Piece[] = [];
  private readonly kinds: string[] = [];

  startScope(name: string): void {
    this.kinds.push(name);
  }

  endScope(): void {
    this.kinds.pop();
  }

  /** As the scopes of keywords, those of other parts begin and end. */
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    if (text !== '') {
      this.all.push({ text, kind: this.kinds.at(-1) ?? '' });
    }
  }

  __addSublanguage(emitter: Emitter): void {
    this.all.push(...(emitter as Pieces).all);
  }

  finalize(): void {
    this.kinds.length = 0;
  }

  toHTML(): string {
    return '';
  }
}

const LANGUAGES = { bash, c, css, diff, go, ini, java, json, python, rust, sql, typescript, xml, yaml };
Object.entries(LANGUAGES).forEach(([name, language]) => highlighter.registerLanguage(name, language));
highlighter.registerAliases(['javascript', 'js', 'jsx', 'mjs', 'cjs'], { languageName: 'typescript' });
highlighter.registerAliases(['cpp', 'c++', 'hpp'], { languageName: 'c' });
highlighter.registerAliases(['shell', 'console'], { languageName: 'bash' });
highlighter.configure({ __emitter: Pieces });

/** Returns the pieces of `code`; none if the language is not known, the code too long, or not understood. */
export function piecesOf(code: string, language: string): readonly Piece[] {
  if (code.length > MOST || !highlighter.getLanguage(language)) {
    return [];
  }
  const { all } = highlighter.highlight(code, { language, ignoreIllegals: true })._emitter as Pieces;
  return all.map(({ text }) => text).join('') === code ? all : [];
}
