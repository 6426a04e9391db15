-- A user renames a sub-agent, formats the file, and runs the agent by the code lens above it.

local support = require('support')

local is_current = vim.fn.has('nvim-0.11') == 1

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') .. '\n'
end

--- What this Neovim shows was asked for where it can ask, and else sent to it.
local function check_origin()
  local found = vim.diagnostic.get(0)[1]
  local origin = vim.diagnostic.get_namespace(found.namespace).name
  local is_pulled = origin:match('^nvim%.lsp%.axe_lsp%.%d+%.') ~= nil
  assert(is_pulled == is_current, origin)
end

local function rename(old, new)
  local line = vim.fn.search('"' .. old .. '"')
  vim.api.nvim_win_set_cursor(0, { line, vim.fn.col('.') + 1 })
  vim.lsp.buf.rename(new)
  support.wait_for('the new name', function()
    return text():find('"' .. new .. '"', 1, true)
  end)
end

local function format()
  if is_current then
    vim.lsp.buf.format()
  else
    vim.lsp.buf.formatting_sync()
  end
end

--- Answers Neovim's questions as the user would.
local function answer(choice, task)
  vim.ui.select = function(items, options, on_choice)
    for _, item in ipairs(items) do
      if options.format_item(item):find(choice, 1, true) then
        return on_choice(item)
      end
    end
    error(choice .. ' is not offered: ' .. vim.inspect(items))
  end
  vim.ui.input = function(_, on_confirm)
    on_confirm(task)
  end
end

local function run_lens(title, task)
  answer(title, task)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  if not is_current then
    vim.lsp.codelens.refresh()
    support.wait_for('what the lenses say', function()
      local last = vim.lsp.codelens.get(vim.api.nvim_get_current_buf())[3]
      return last and last.command
    end)
  end
  vim.lsp.codelens.run()
end

support.play(function()
  support.wait_for_diagnostics({ 'max-depth 6' })
  check_origin()
  support.replace('max_depth  = 6', 'max_depth  = 5')
  support.wait_for_diagnostics({})
  rename('slow', 'careful')
  format()
  vim.cmd('silent wall')
  run_lens('references', nil)
  support.wait_for('the list of references', function()
    return vim.fn.getqflist({ title = 0 }).title == '0 references'
  end)
  vim.cmd('cclose')
  run_lens('Run', 'Review the change')
  support.wait_for_log('  careful | The style is fine.', 'manager ✓ completed')
end)
