-- A user mends an agent by what Neovim offers: creates the agent that is missing, has the rest fixed, and renames another one.

local support = require('support')

--- Takes the code action of that title with the cursor on `text`, as somebody who picks it from the menu.
local function take(text, title)
  local line, column = unpack(vim.fn.searchpos(text, 'cw'))
  assert(line > 0, 'no ' .. text)
  vim.api.nvim_win_set_cursor(0, { line, column - 1 })
  local seen
  vim.ui.select = function(items, options, choose)
    seen = vim.tbl_map(options.format_item, items)
    for index, name in ipairs(seen) do
      if name == title then
        return choose(items[index], index)
      end
    end
  end
  vim.lsp.buf.code_action()
  support.wait_for('code actions', function()
    return seen
  end)
  assert(vim.tbl_contains(seen, title), title .. ' should be among ' .. vim.inspect(seen))
end

local function shows_documents()
  local window = vim.lsp.protocol.make_client_capabilities().window
  return window.showDocument and window.showDocument.support
end

local function rename(old, new)
  local line, column = unpack(vim.fn.searchpos('"' .. old, 'cw'))
  vim.api.nvim_win_set_cursor(0, { line, column })
  vim.lsp.buf.rename(new)
  support.wait_for('the new name', function()
    return vim.fn.search('"' .. new .. '"', 'cnw') > 0
  end)
end

support.play(function()
  local manager = vim.fn.expand('%:p')
  local ghost = vim.fn.fnamemodify(manager, ':h') .. '/ghost.toml'
  support.wait_for_diagnostics({ 'negative-timeout -30', 'unknown-agent "ghost"', 'max-depth 6' })
  take('ghost', 'Create the agent "ghost"')
  support.wait_for('the new file', function()
    return vim.fn.filereadable(ghost) == 1
  end)
  if shows_documents() then
    support.wait_for('the new agent in front', function()
      return vim.fn.expand('%:p') == ghost
    end)
    assert(vim.fn.getline(1) == 'name = "ghost"' and not vim.bo.modified)
    vim.cmd('edit ' .. manager)
  end
  support.wait_for_diagnostics({ 'negative-timeout -30', 'max-depth 6' })
  take('-30', 'Fix everything that has a certain fix')
  support.wait_for_diagnostics({})
  rename('fast🚀', 'quick')
  support.wait_for_diagnostics({})
  support.report(table.concat(vim.fn.getline(1, '$'), '\n'))
end)
