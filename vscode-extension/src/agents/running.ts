// What is done with one agent: run it on a task or on an input, or look at what would be sent.

import { Uri, type WebviewPanel } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Schema } from '../forms/fields';
import type { FormView } from '../forms/protocol';
import type { Given, InputForms, Uses } from '../forms/inputForms';
import type { RunParams } from '../protocol';
import type { PromptPreviews } from './promptPreviews';
import { PreviewRequest } from './protocol';
import { agentName } from './target';
import { askTask, type Tasks } from './tasks';

/** Runs an agent and shows what happens. Fails if the run does. */
export type Run = (client: LanguageClient, params: RunParams) => Promise<void>;

/**
 * Asks for a task, or for the input of an agent that is called with an object. A task comes from who calls the
 * command by itself.
 */
export async function runAgent(client: LanguageClient, run: Run, forms: InputForms, tasks: Tasks, file: Uri | undefined, task: unknown): Promise<void> {
  if (!file) {
    return;
  }
  const schema = typeof task === 'string' ? undefined : await inputSchemaOf(client, file);
  if (schema) {
    forms.show(file, schema);
    return;
  }
  const wanted = typeof task === 'string' ? { task } : await askTask(agentName(file), tasks.of(file));
  if (wanted && 'draft' in wanted) {
    await forms.write(file, wanted.draft);
  } else if (wanted) {
    await tasks.remember(file, wanted.task);
    await run(client, paramsOf(client, file, wanted));
  }
}

/** Opens a form: of the agent's `[input]`, or for a task of several lines. */
export async function askForInput(client: LanguageClient, forms: InputForms, file: Uri | undefined): Promise<void> {
  if (file) {
    forms.show(file, await inputSchemaOf(client, file));
  }
}

/** A form that was open before the window was loaded anew, unless its agent can't be run any more. */
export async function restoreForm(client: LanguageClient | undefined, forms: InputForms, panel: WebviewPanel, kept: FormView | undefined): Promise<void> {
  const file = kept && Uri.parse(kept.file);
  const asked = client && file && inputSchemaOf(client, file).then((schema) => ({ file, schema }), () => undefined);
  const known = await asked;
  if (known) {
    forms.show(known.file, known.schema, panel);
  } else {
    panel.dispose();
  }
}

export async function previewAgent(client: LanguageClient, previews: PromptPreviews, file: Uri | undefined): Promise<void> {
  if (file) {
    await previews.show({ client, file, params: paramsOf(client, file) });
  }
}

/** What a form does with what was written in it, through the server that is running by then. */
export function usesOf(
  running: () => Promise<LanguageClient | undefined>,
  run: Run,
  tasks: Tasks,
  previews: PromptPreviews,
  report: (error: unknown) => void,
): Uses {
  const server = async () => {
    const client = await running();
    if (!client) {
      throw new Error('The language server is not running.');
    }
    return client;
  };
  return {
    check: async (file, given) => {
      const client = await server();
      await client.sendRequest(PreviewRequest, paramsOf(client, file, given));
    },
    preview: async (file, given) => {
      const client = await server();
      await previews.show({ client, file, params: paramsOf(client, file, given) });
    },
    run: (file, given) => {
      void Promise.all([server(), 'task' in given ? tasks.remember(file, given.task) : undefined])
        .then(([client]) => run(client, paramsOf(client, file, given)))
        .catch(report);
    },
  };
}

async function inputSchemaOf(client: LanguageClient, file: Uri): Promise<Schema | undefined> {
  const { inputSchema } = await client.sendRequest(PreviewRequest, paramsOf(client, file));
  return inputSchema;
}

/** An empty task is the agent's own. */
function paramsOf(client: LanguageClient, file: Uri, given: Given = { task: '' }): RunParams {
  const uri = client.code2ProtocolConverter.asUri(file);
  if ('input' in given) {
    return { uri, input: given.input };
  }
  return given.task.trim() ? { uri, task: given.task } : { uri };
}
