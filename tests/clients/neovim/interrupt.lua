-- Ctrl-C at the choices of a question dismisses it, as Escape does, and the next question can be answered.

local support = require('support')

support.play(function()
  local keys = { '<C-c>', '1<CR>' }
  local inputlist = vim.fn.inputlist
  vim.fn.inputlist = function(lines)
    local timer = (vim.uv or vim.loop).new_timer() -- it is looked at only while Neovim waits for keys
    timer:start(0, 0, function()
      timer:close()
      vim.api.nvim_input(table.remove(keys, 1))
    end)
    return inputlist(lines)
  end
  vim.api.nvim_create_autocmd('User', {
    pattern = 'AxeQuestion',
    callback = function()
      vim.schedule(vim.cmd.AxeAnswer)
    end,
  })
  support.wait_for_server()
  vim.v.errmsg = ''
  vim.cmd('AxeRun Work')
  support.wait_for_log('✓ lead: Work  ')
  assert(vim.v.errmsg == '', vim.v.errmsg)
  assert(#keys == 0, 'both questions were put')
  assert(#vim.api.nvim_list_wins() == 2, 'what was shown beside the questions is away')
end)
