// The Python that the user has selected for the workspace, as the Python extension knows it, where that is installed.

import { extensions, workspace, type Disposable, type Event } from 'vscode';

const PYTHON_EXTENSION = 'ms-python.python';
const PATIENCE_MS = 5_000;

/** The part of its API that is used here. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: unknown): { readonly path: string };
    resolveEnvironment(
      environment: unknown,
    ): Promise<{ readonly executable: { readonly uri?: { readonly fsPath: string } } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: Event<unknown>;
  };
}

export async function selectedPython(): Promise<string | undefined> {
  return within(PATIENCE_MS, ask()).catch(() => undefined);
}

/** Calls `react` when the user selects another one. Does nothing unless the Python extension is at work already. */
export function onOtherPython(react: () => void): Disposable | undefined {
  const extension = extensions.getExtension<PythonApi>(PYTHON_EXTENSION);
  return extension?.isActive ? extension.exports?.environments?.onDidChangeActiveEnvironmentPath(react) : undefined;
}

async function ask(): Promise<string | undefined> {
  const api = await extensions.getExtension<PythonApi>(PYTHON_EXTENSION)?.activate();
  if (!api?.environments) {
    return undefined;
  }
  const active = api.environments.getActiveEnvironmentPath(workspace.workspaceFolders?.[0]?.uri);
  const environment = await api.environments.resolveEnvironment(active);
  return environment?.executable.uri?.fsPath;
}

/** Another extension may take its time; a server need not wait for it. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
