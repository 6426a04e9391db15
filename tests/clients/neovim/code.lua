-- An agent edits files that language servers check, and asks them.

local support = require('support')

support.play(function()
  if vim.fn.has('nvim-0.11') == 0 then
    assert(not require('axe_lsp.approvals').capabilities.experimental.axe.editor)
    return support.report('too old')
  end
  local python, server = vim.env.AXE_TEST_PYTHON, vim.env.AXE_TEST_LANGUAGE_SERVER
  local root = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.api.nvim_buf_get_name(0))))
  vim.lsp.config('words', { cmd = { python, server }, filetypes = { 'text' }, root_dir = root })
  vim.lsp.config('asked', { cmd = { python, server, 'silent', 'pull' }, filetypes = { 'rst' }, root_dir = root })
  vim.lsp.config('silent', { cmd = { python, server, 'silent' }, filetypes = { 'css' }, root_dir = root })
  vim.lsp.config('ruff', { cmd = { vim.env.AXE_TEST_RUFF, 'server' }, filetypes = { 'python' }, root_dir = root })
  vim.lsp.enable({ 'words', 'asked', 'silent', 'ruff' })
  support.wait_for_server()
  local client = support.clients()[1]
  client.settings = { axe = { tools = { allow = { 'edit_file' } } } }
  client:notify('workspace/didChangeConfiguration', { settings = client.settings })
  local before = #vim.api.nvim_list_bufs()
  vim.cmd('AxeRun Go')
  support.wait_for_log('✓ coder: Go')
  local open = vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())
  local names = vim.tbl_map(vim.api.nvim_buf_get_name, open)
  assert(not vim.iter(names):any(function(name)
    return vim.endswith(name, '.txt') or vim.endswith(name, '.py')
  end), 'the files that the agent has asked about are closed: ' .. vim.inspect(names))
  assert(#vim.api.nvim_list_bufs() == before + 1, 'of the runs')
end)
