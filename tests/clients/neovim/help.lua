-- A user asks for help: the tags of the help file, and what is wrong here.

local support = require('support')

local function health()
  vim.cmd('checkhealth axe_lsp')
  support.wait_for('the report', function()
    return support.buffer_with('axe_lsp') and table.concat(vim.fn.getline(1, '$'), '\n'):find('axe_lsp')
  end)
  return table.concat(vim.fn.getline(1, '$'), '\n')
end

support.play(function()
  vim.cmd('filetype plugin off') -- the one of help wants a parser, which not every Neovim comes with
  local copy = vim.env.PLUGIN_COPY
  vim.cmd('helptags ' .. copy .. '/doc')
  vim.opt.runtimepath:append(copy)
  for _, tag in ipairs({ 'axe-lsp', ':AxeRun', ':AxePreview', ':AxeStop', ':AxeRuns', 'axe-runs-keys', 'axe-config', 'axe-status' }) do
    vim.cmd('help ' .. tag)
    assert(vim.fn.expand('%:t') == 'axe_lsp.txt' and vim.fn.getline('.'):find('*' .. tag .. '*', 1, true), tag)
  end
  vim.cmd('helpclose')
  support.report(health())
end)
