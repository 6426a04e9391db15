// The task of a run: typed in a box, one of those before, or written in a form if it has several lines.

import { QuickPickItemKind, ThemeIcon, window, type Memento, type QuickPickItem, type Uri } from 'vscode';
import { withoutIcons } from '../questions';
import { count, shortened } from '../runs/figures';

/** Tasks of an agent that are remembered in the workspace. */
const MOST = 15;
const LABEL = 120;

/** What a user wants: a task to run, or a form with what was typed so far. */
export type Wanted = { readonly task: string } | { readonly draft: string };

interface Item extends QuickPickItem {
  readonly wanted?: Wanted;
}

const LINES: Item = { label: '$(edit) Several Lines…', alwaysShow: true };
const TO_LINES = { iconPath: new ThemeIcon('edit'), tooltip: 'Several Lines…' };
const OWN = 'The agent\'s own instructions';
const EDIT = { iconPath: new ThemeIcon('edit'), tooltip: 'Change It First' };

/** What agents were told before, in this workspace. */
export class Tasks {
  constructor(private readonly memory: Memento) {}

  /** The newest comes first. */
  of(file: Uri): readonly string[] {
    return this.memory.get<string[]>(keyOf(file), []);
  }

  async remember(file: Uri, task: string): Promise<void> {
    if (task.trim()) {
      await this.memory.update(keyOf(file), [task, ...this.of(file).filter((each) => each !== task)].slice(0, MOST));
    }
  }
}

/**
 * Undefined when the user thinks better of it. What is typed is the task, whatever the list shows at that moment: it follows a
 * little later.
 */
export function askTask(name: string, before: readonly string[]): Promise<Wanted | undefined> {
  const box = window.createQuickPick<Item>();
  box.title = `Run ${name}`;
  box.placeholder = 'The task. Leave it empty to run the agent on its own instructions.';
  box.buttons = [TO_LINES];
  const show = () => {
    const typed: Item = { label: withoutIcons(box.value.trim()) || OWN, wanted: { task: box.value }, alwaysShow: true };
    box.items = box.value ? [typed] : [typed, LINES, ...earlier(before)];
    box.ignoreFocusOut = box.value !== ''; // What was written is not lost by a click elsewhere.
  };
  show();
  return new Promise((resolve) => {
    const end = (wanted: Wanted | undefined) => {
      resolve(wanted);
      box.dispose();
    };
    box.onDidChangeValue(show);
    box.onDidAccept(() => {
      const [chosen] = box.selectedItems;
      end(box.value ? { task: box.value } : chosen === LINES ? { draft: '' } : (chosen?.wanted ?? { task: '' }));
    });
    box.onDidTriggerButton(() => end({ draft: box.value }));
    box.onDidTriggerItemButton(({ item: { wanted } }) => {
      const task = wanted && 'task' in wanted ? wanted.task : '';
      if (task.includes('\n')) {
        end({ draft: task });
      } else {
        box.value = task;
        show();
      }
    });
    box.onDidHide(() => end(undefined));
    box.show();
  });
}

function earlier(tasks: readonly string[]): Item[] {
  const items = tasks.map((task) => {
    const lines = task.trim().split('\n').length;
    return { label: withoutIcons(shortened(task, LABEL)), wanted: { task }, buttons: [EDIT], ...(lines > 1 ? { description: count(lines, 'line') } : {}) };
  });
  return items.length > 0 ? [{ label: 'earlier tasks', kind: QuickPickItemKind.Separator }, ...items] : [];
}

function keyOf(file: Uri): string {
  return `tasks of ${file.toString()}`;
}
