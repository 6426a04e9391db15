-- A user runs, previews and looks up an agent by what stands above its name.

local support = require('support')

local ASKS_ITSELF = vim.lsp.codelens.enable ~= nil -- 0.12; older ones offer what they were told to show

--- Chooses the lens of this title above the name, as soon as it is offered.
local function take(title)
  local is_open, is_chosen = false, false
  vim.ui.select = function(lenses, options, on_choice)
    for _, lens in ipairs(lenses) do
      if options.format_item(lens):find(title, 1, true) then
        is_chosen = true
        return on_choice(lens)
      end
    end
    is_open = false
  end
  vim.api.nvim_win_set_cursor(0, { vim.fn.search('^name', 'cw'), 0 })
  support.wait_for('the lens ' .. title, function()
    if ASKS_ITSELF and not is_open then
      is_open = true
      vim.lsp.codelens.run()
    elseif not ASKS_ITSELF then
      vim.lsp.codelens.refresh()
      pcall(vim.lsp.codelens.run) -- before 0.8 it stumbles over those that are still being resolved
    end
    return is_chosen
  end)
end

support.play(function()
  support.wait_for_server()
  vim.ui.input = function(options, on_text)
    assert(options.prompt:find('^Task'), options.prompt)
    on_text('Look at it')
  end
  take('Run')
  support.wait_for_log('✓ slow: Look at it  ', '│ The style is fine.')
  take('Preview')
  support.wait_for('the preview', function()
    return support.buffer_with('=== Dry Run ===')
  end)
  take('1 reference')
  support.wait_for('the places', function()
    return vim.bo.buftype == 'quickfix'
  end)
  local place = vim.fn.getqflist()[1]
  support.report(vim.fn.fnamemodify(vim.fn.bufname(place.bufnr), ':t') .. ' ' .. place.lnum)
end)
