-- A user opens an agent with three mistakes, mends them one by one, and runs it.

local support = require('support')

--- What the columns of this Neovim count: it offers UTF-8 since 0.11, and could not offer anything before.
local function check_encoding()
  local clients = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  local expected = vim.fn.has('nvim-0.11') == 1 and 'utf-8' or 'utf-16'
  assert(#clients == 1 and clients[1].offset_encoding == expected, 'columns should count in ' .. expected)
end

local function mend()
  support.wait_for_diagnostics({ 'negative-timeout -30', 'unknown-agent "ghost"', 'max-depth 6' })
  check_encoding()
  support.replace('timeout = -30', 'timeout = 30')
  support.wait_for_diagnostics({ 'unknown-agent "ghost"', 'max-depth 6' })
  support.replace('"ghost"', '"slow"')
  support.wait_for_diagnostics({ 'max-depth 6' })
  support.replace('max_depth = 6', 'max_depth = 5')
  support.wait_for_diagnostics({})
end

local function run()
  vim.cmd('AxeRun Review the change')
  support.wait_for('the answer of the fast child', function()
    return support.runs_text():find('| No bugs found.', 1, true)
  end)
  assert(not support.runs_text():find('slow ✓', 1, true), 'the slow child has not been answered yet')
  support.report('the fast child has answered')
  support.wait_for('the beginning of the answer', function()
    return support.runs_text():find('manager | Ready to', 1, true)
  end)
  assert(not support.runs_text():find('merge', 1, true), 'the end of the answer has not been sent yet')
  support.report('the manager has begun its answer')
  support.wait_for('the end of the run', function()
    return support.runs_text():find('manager ✓ completed', 1, true)
  end)
end

support.play(function()
  assert(vim.bo.filetype == 'toml')
  mend()
  run()
  support.report(support.runs_text())
end)
