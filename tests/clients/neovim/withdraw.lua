-- A user stops an agent that waits for an answer: the question goes, and its caller works on.

local support = require('support')

support.play(function()
  local told = support.notices()
  support.wait_for_server()
  vim.api.nvim_create_autocmd('User', { pattern = 'AxeQuestion', command = 'AxeStop writer' })
  vim.cmd('AxeRun Work')
  support.wait_for_log('✓ lead: Work  ', '  ■ writer: w  ', '! cancelled')
  assert(not support.buffer_with('@@'), 'what was shown beside the question is away')
  vim.cmd('AxeAnswer')
  assert(told[#told] == 'No agent asks anything.', vim.inspect(told))
  assert(require('axe_lsp').status() == '')
end)
