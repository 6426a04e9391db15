// The part of the Python extension's API that tells which environment is selected: the one of AXE_TEST_SELECTED_PYTHON.

const { EventEmitter, Uri } = require('vscode');

exports.activate = () => ({
  environments: {
    getActiveEnvironmentPath: () => ({ id: 'test', path: process.env.AXE_TEST_SELECTED_PYTHON }),
    resolveEnvironment: async ({ path }) => ({ executable: { uri: Uri.file(path) } }),
    onDidChangeActiveEnvironmentPath: new EventEmitter().event,
  },
});
