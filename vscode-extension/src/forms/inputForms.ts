// Forms for the input of agents, one for each file, in tabs. What was written last is remembered in the workspace.

import { basename } from 'node:path';
import type { Memento, Uri, WebviewPanel } from 'vscode';
import { Panel } from '../webviews/panel';
import { fieldsOf, type Field, type Json, type Schema } from './fields';
import type { FormMessage, FormState } from './protocol';
import { inputOf, type Texts } from './values';

/** What an agent is run with: the object of one with `[input]`, the task of another one. */
export type Given = { readonly input: Readonly<Record<string, Json>> } | { readonly task: string };

export interface Uses {
  /** Rejected if the server will have none of it. */
  check(file: Uri, given: Given): Promise<void>;
  run(file: Uri, given: Given): void;
  preview(file: Uri, given: Given): Promise<void>;
}

export const FORM = 'inputForm';

const TASK: Field = {
  name: 'task',
  label: 'Task',
  description: 'Leave it empty to run the agent on its own instructions.',
  kind: 'text',
  required: false,
  initial: '',
  choices: [],
  parts: [],
  schema: { type: 'string' },
};

export class InputForms {
  private readonly open = new Map<string, Form>();

  constructor(
    private readonly extension: Uri,
    private readonly memory: Memento,
    private readonly uses: Uses,
  ) {}

  /** Opens the form for a task of several lines, with what was typed so far; else with the last one. An open form keeps its text. */
  async write(file: Uri, draft: string): Promise<void> {
    const open = this.open.get(file.toString());
    if (draft.trim() && open?.isFor(undefined)) {
      open.add(draft);
    } else if (draft.trim()) {
      await this.memory.update(keyOf(file), { ...this.memory.get<Texts>(keyOf(file)), [TASK.name]: draft });
    }
    this.show(file, undefined);
  }

  /** `restored` is a panel that was open before the window was loaded anew. */
  show(file: Uri, schema: Schema | undefined, restored?: WebviewPanel): void {
    const name = file.toString();
    const known = this.open.get(name);
    if (known?.isFor(schema)) {
      known.panel.reveal();
      restored?.dispose();
      return;
    }
    known?.panel.dispose();
    const forget = () => {
      if (this.open.get(name) === form) {
        this.open.delete(name);
      }
    };
    const form = new Form(this.extension, this.memory, this.uses, file, schema, forget, restored);
    this.open.set(name, form);
  }
}

class Form {
  readonly panel: Panel<FormState, FormMessage>;
  private readonly fields: readonly Field[];
  private problem = '';
  private addition: FormState['addition'];

  constructor(
    extension: Uri,
    private readonly memory: Memento,
    private readonly uses: Uses,
    private readonly file: Uri,
    private readonly schema: Schema | undefined,
    onClosed: () => void,
    restored?: WebviewPanel,
  ) {
    this.fields = schema ? fieldsOf(schema) : [TASK];
    const title = `Run ${agentName(file)}`;
    const receive = (message: FormMessage) => void this.receive(message);
    this.panel = new Panel(extension, { name: FORM, title, state: () => this.state(), receive }, onClosed, restored);
  }

  isFor(schema: Schema | undefined): boolean {
    return JSON.stringify(schema) === JSON.stringify(this.schema);
  }

  /** Puts a text behind what is written in the first field. */
  add(text: string): void {
    this.addition = { key: Date.now(), text };
    this.panel.refresh();
  }

  private state(): FormState {
    const explanation = this.schema ? 'The input of this agent is an object; * marks required fields.' : 'The task of the agent.';
    return { file: this.file.toString(), agent: agentName(this.file), explanation, fields: this.fields, texts: this.remembered(), problem: this.problem, addition: this.addition };
  }

  private async receive({ wanted, texts }: FormMessage): Promise<void> {
    await this.memory.update(keyOf(this.file), texts);
    if (wanted === 'keep') {
      return;
    }
    const given = wanted === 'close' ? undefined : this.given(texts);
    if (given === undefined) {
      this.panel.dispose();
      return;
    }
    try {
      await this.uses[wanted === 'run' ? 'check' : 'preview'](this.file, given);
      this.problem = '';
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.panel.refresh();
    if (wanted === 'run' && !this.problem) {
      this.panel.dispose();
      this.uses.run(this.file, given);
    }
  }

  /** Undefined if the page has let something pass that is no input. */
  private given(texts: Texts): Given | undefined {
    if (!this.schema) {
      return { task: texts[TASK.name] ?? '' };
    }
    const result = inputOf(this.fields, texts);
    return 'input' in result ? result : undefined;
  }

  private remembered(): Texts {
    const initial = Object.fromEntries(this.fields.map(({ name, initial }) => [name, initial]));
    return { ...initial, ...this.memory.get<Texts>(keyOf(this.file)) };
  }
}

function keyOf(file: Uri): string {
  return `input of ${file.toString()}`;
}

function agentName(file: Uri): string {
  return basename(file.path, '.toml');
}
