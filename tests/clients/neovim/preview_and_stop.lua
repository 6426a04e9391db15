-- A user looks at what would be sent, runs the agent, and stops it while a child is at work.

local support = require('support')

local function buffer_with(text)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n'):find(text, 1, true) then
      return buffer
    end
  end
end

local function clients()
  return vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.tbl_values(vim.lsp.buf_get_clients(0))
end

support.play(function()
  local manager = vim.fn.expand('%:p')
  support.wait_for('the server', function()
    return #clients() == 1
  end)
  vim.cmd('edit ' .. vim.fn.fnamemodify(manager, ':h:h:h') .. '/other.toml')
  assert(vim.bo.filetype == 'toml' and #clients() == 0, 'other TOML files are left alone')
  vim.cmd('edit ' .. manager)
  vim.cmd('AxePreview')
  support.wait_for('the preview', function()
    return buffer_with('=== Dry Run ===')
  end)
  vim.cmd('AxeRun Review the change')
  support.wait_for('the slow child', function()
    return support.runs_text():find('slow · turn 1', 1, true)
  end)
  vim.cmd('AxeStop')
  support.wait_for('the end of the run', function()
    return support.runs_text():find('slow ✗ cancelled', 1, true) and support.runs_text():find('manager ✗ cancelled', 1, true)
  end)
end)
