-- A user looks at what would be sent, runs the agent, stops it while a child is at work, and looks back.

local support = require('support')

local function preview_what_was_just_typed()
  support.replace('Sum up', 'Write down')
  vim.cmd('AxePreview')
  support.wait_for('the preview', function()
    return support.buffer_with('=== Dry Run ===')
  end)
  local preview = support.buffer_with('=== Dry Run ===')
  local text = table.concat(vim.api.nvim_buf_get_lines(preview, 0, -1, false), '\n')
  assert(text:find('Write down what they find', 1, true), text)
end

local function look_at_the_run_that_was_stopped()
  vim.ui.select = function(runs, options, show)
    local shown = options.format_item(runs[1])
    local year, month, day, hour, minute = shown:match('^(%d+)%-(%d+)%-(%d+) (%d+):(%d+)  cancelled  manager: Review the change')
    assert(#runs == 2 and year, shown) -- and those of all folders
    local began = os.time({ year = year, month = month, day = day, hour = hour, min = minute })
    assert(math.abs(os.time() - began) < 600, 'in the local time zone: ' .. shown)
    show(runs[1])
  end
  vim.cmd('AxeRuns manager')
  support.wait_for('the run among those of this session', function()
    return vim.fn.bufname() == 'axe://runs'
  end)
  assert(vim.fn.getline('.') == '■ manager: Review the change', vim.fn.getline('.'))
end

support.play(function()
  local manager = vim.fn.expand('%:p')
  local notices = support.notices()
  support.wait_for_server()
  vim.cmd('edit ' .. vim.fn.fnamemodify(manager, ':h:h:h') .. '/other.toml')
  assert(vim.bo.filetype == 'toml' and #support.clients() == 0, 'other TOML files are left alone')
  vim.cmd('edit ' .. manager)
  preview_what_was_just_typed()
  vim.cmd('AxeStop')
  assert(vim.deep_equal(notices, { 'axe: no agent is running' }), vim.inspect(notices))
  vim.cmd('AxeRun Review the change')
  support.wait_for_log('✓ fast🚀', '▶ slow: Look at the style  openai/slow\n    · turn 1')
  vim.cmd('AxeStop')
  support.wait_for_log('  ■ slow: Look at the style  ', '■ manager: Review the change  ', '\n  ! cancelled')
  look_at_the_run_that_was_stopped()
end)
