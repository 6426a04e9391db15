-- The buffers in which runs are told: their keys, and how windows show them.

local buffers = require('axe_lsp.run_buffers')

local function key(keys, action, description)
  vim.keymap.set('n', keys, action, { buffer = 0, nowait = true, silent = true, desc = description })
end

key('q', '<Cmd>close<CR>', 'Close the window')
key('<CR>', buffers.open_item, 'Show the whole message, arguments and result')
key('s', function()
  require('axe_lsp.runs').stop_at_cursor()
end, 'Stop the agent of this line, and all below it')
key('r', function()
  require('axe_lsp.runs').reply_at_cursor()
end, 'Reply to the run of this line')
key('m', function()
  require('axe_lsp.messages').send('', false)
end, 'Send a message to the agent of this line')
key('M', function()
  require('axe_lsp.messages').queue()
end, 'Show the messages to the agent of this line that wait')
key('u', function()
  require('axe_lsp.runs').undo_at_cursor()
end, 'Undo the file changes of the run of this line')
key('d', function()
  require('axe_lsp.runs').changes_at_cursor()
end, 'Show the files that the run of this line has changed')
key('gf', function()
  require('axe_lsp.runs').open_agent_at_cursor()
end, "Open the agent's file")
key(']]', function()
  buffers.go(false)
end, 'Next agent')
key('[[', function()
  buffers.go(true)
end, 'Agent before')
key('g?', '<Cmd>help axe-runs-keys<CR>', 'Show these keys')

local function show_well()
  vim.opt_local.foldmethod = 'expr'
  vim.opt_local.foldexpr = "v:lua.require'axe_lsp.run_buffers'.fold_level(v:lnum)"
  vim.opt_local.foldtext = "v:lua.require'axe_lsp.run_buffers'.fold_text()"
  vim.opt_local.foldlevel = 99
  vim.opt_local.wrap = true
  vim.opt_local.linebreak = true
  vim.opt_local.breakindent = true
  vim.opt_local.number = false
  vim.opt_local.relativenumber = false
  vim.opt_local.spell = false
  vim.opt_local.conceallevel = 2
end

vim.api.nvim_create_autocmd('BufWinEnter', { buffer = 0, callback = show_well })
