-- Messages wait while a run is at work: one is edited, one is removed, and one is given at once.

local support = require('support')

--- Picks by their text what is offered next.
local picks = {}
vim.ui.select = function(all, options, use)
  local title = table.remove(picks, 1)
  for _, each in ipairs(all) do
    if (options.format_item or tostring)(each) == title then
      return use(each)
    end
  end
  error(('%s is not offered: %s'):format(title, vim.inspect(all)))
end

local typed = {}
vim.ui.input = function(_, use)
  use(table.remove(typed, 1))
end

support.play(function()
  support.wait_for_server()
  local notices = support.notices()
  vim.cmd('AxeSend Too early')
  assert(notices[1]:find('no agent is running', 1, true), vim.inspect(notices))

  vim.cmd('AxeRun Go')
  support.wait_for_log('│ Meanwhile', '▶ lint-1 (side run): Lint')
  picks = { 'lead: Go' }
  vim.cmd('AxeSend Only a.py')
  support.wait_for_log('⟳ message: Only a.py')
  picks, typed = { 'lead: Go' }, { 'And b.py' }
  vim.cmd('AxeSend')
  support.wait_for_log('⟳ message: And b.py')

  picks = { 'lead: Go', 'And b.py', 'Remove' }
  vim.cmd('AxeQueue')
  support.wait_for_log('⟳ message removed')
  picks, typed = { 'lead: Go', 'Only a.py', 'Edit' }, { 'Only c.py' }
  vim.cmd('AxeQueue')
  support.wait_for_log('⟳ message changed: Only c.py')
  picks = { 'lead: Go', 'Only c.py', 'Give it now' }
  vim.cmd('AxeQueue')
  support.wait_for_log('! broken off by a message', '⟳ given: 1 message', '│ Looked at c.', '⟳ waits for lint-1')

  picks = { 'lint-1 (side run): Lint' }
  vim.cmd('AxeSend! Stop it')
  support.wait_for_log('│ Clean.', '⟳ given: answer of lint-1', '✓ lead: Go', '│ All done.')
end)
