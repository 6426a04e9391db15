-- A file that is opened later, or again, shows its problems; a file that another program creates counts; TOML of
-- other programs shows none. Of such TOML a server that Neovim starts for all of it says so at once.

local support = require('support')

local PROBLEMS = { 'unknown-agent "nobody"', 'unknown-key bogus' }

support.play(function()
  support.wait_for_server()
  support.wait_for_diagnostics({})
  local folder = vim.fn.expand('%:p:h')
  for _ = 1, 2 do
    vim.cmd('edit ' .. folder .. '/faulty.toml')
    support.wait_for_diagnostics(PROBLEMS)
    vim.api.nvim_buf_set_lines(0, -1, -1, true, { '# a comment' })
    support.wait_for_diagnostics(PROBLEMS)
    vim.cmd('bwipeout!')
  end
  local client, sent = support.clients()[1], support.sent_diagnostics('pyproject.toml')
  vim.cmd('edit ' .. folder .. '/../../pyproject.toml')
  vim.lsp.buf_attach_client(0, client.id)
  for round = 1, 2 do
    support.wait_for('an empty list', function()
      return #sent >= round
    end)
    vim.api.nvim_buf_set_lines(0, -1, -1, true, { '# a comment' })
  end
  assert(math.max(unpack(sent)) == 0, 'pyproject.toml has diagnostics')
  vim.bo.modified = false
  vim.cmd('edit ' .. folder .. '/faulty.toml')
  support.wait_for_diagnostics(PROBLEMS)
  vim.fn.writefile({ 'name = "nobody"', 'model = "ollama/m"' }, folder .. '/nobody.toml')
  support.wait_for_diagnostics({ PROBLEMS[2] })
  vim.fn.delete(folder .. '/nobody.toml')
  support.wait_for_diagnostics(PROBLEMS)
  local foreign = vim.fn.bufnr('pyproject.toml')
  assert(#vim.diagnostic.get(foreign) == 0, 'pyproject.toml has diagnostics')
end)
