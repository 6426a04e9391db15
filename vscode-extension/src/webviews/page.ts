// The skeleton of every webview: one script, known by its nonce, the extension's own styles, and nothing from elsewhere.
// Knows nothing of VS Code, nor of what a page shows.

export interface Skeleton {
  /** What the page is, for screen readers. */
  readonly title: string;
  readonly script: string;
  readonly styles: readonly string[];
  /** What the webview calls the extension's own files in a policy. */
  readonly source: string;
  readonly nonce: string;
  readonly language: string;
}

/** A document whose script fills `<main id="page">`; nothing in it is run but that script. */
export function page({ title, script, styles, source, nonce, language }: Skeleton): string {
  const policy = `default-src 'none'; style-src ${source}; script-src 'nonce-${nonce}'`;
  const links = styles.map((style) => `<link rel="stylesheet" href="${escaped(style)}">`);
  return `<!DOCTYPE html>
<html lang="${escaped(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<title>${escaped(title)}</title>
${links.join('\n')}
</head>
<body>
<main id="page" aria-label="${escaped(title)}"></main>
<script nonce="${escaped(nonce)}" src="${escaped(script)}"></script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
