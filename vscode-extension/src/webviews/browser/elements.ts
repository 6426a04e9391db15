// Builds elements of a page. Text is text: nothing that an agent has written becomes markup.

type Child = Node | string;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  return fill(made, attributes, children);
}

const SVG = 'http://www.w3.org/2000/svg';

export function drawing<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill<Made extends Element>(
  made: Made,
  attributes: Readonly<Record<string, string>>,
  children: readonly Child[],
): Made {
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
