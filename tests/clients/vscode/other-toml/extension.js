// What an extension for TOML does: it reports something in each file of its language, and formats all that are called .toml.

const { languages, workspace, Diagnostic, Position, Range, TextEdit } = require('vscode');

exports.activate = ({ subscriptions }) => {
  const found = languages.createDiagnosticCollection('other-toml');
  const report = (document) => {
    if (document.languageId === 'toml') {
      const diagnostic = new Diagnostic(new Range(0, 0, 0, 1), 'this is TOML');
      diagnostic.source = 'other-toml';
      found.set(document.uri, [diagnostic]);
    }
  };
  workspace.textDocuments.forEach(report);
  subscriptions.push(
    found,
    workspace.onDidOpenTextDocument(report),
    workspace.onDidCloseTextDocument(({ uri }) => found.delete(uri)),
    languages.registerDocumentFormattingEditProvider([{ language: 'toml' }, { pattern: '**/*.toml' }], {
      provideDocumentFormattingEdits: () => [TextEdit.insert(new Position(0, 0), '# other-toml was here\n')],
    }),
  );
};
