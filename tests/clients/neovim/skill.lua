-- A user who edits a skill asks which agents use it.

local support = require('support')

support.play(function()
  if vim.fn.has('nvim-0.11') == 0 then
    support.report('this version knows no server for several languages')
    return
  end
  support.wait_for_server()
  vim.cmd('filetype plugin off') -- the one of markdown wants a parser, which not every Neovim comes with
  vim.cmd('edit ' .. vim.env.SKILL)
  support.wait_for_server()
  local found
  vim.lsp.buf.references(nil, {
    on_list = function(list)
      found = list.items
    end,
  })
  support.wait_for('references', function()
    return found
  end)
  support.report(vim.fn.fnamemodify(found[1].filename, ':t') .. ' ' .. found[1].lnum)
end)
