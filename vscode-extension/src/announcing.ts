// Tells the server what this client can do beyond the Language Server Protocol.

import type { StaticFeature } from 'vscode-languageclient/node';

/** A feature that adds to `experimental.axe` of the client's capabilities. */
export function announcing(added: Readonly<Record<string, true>>): StaticFeature {
  return {
    fillClientCapabilities: (capabilities) => {
      const { axe, ...others } = (capabilities.experimental ?? {}) as { axe?: object };
      capabilities.experimental = { ...others, axe: { ...axe, ...added } };
    },
    initialize: () => undefined,
    getState: () => ({ kind: 'static' }),
    clear: () => undefined,
  };
}
