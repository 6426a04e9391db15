-- A test of an agent fails at the line of its expectation, and passes once that is corrected.

local support = require('support')

support.play(function()
  support.wait_for_server()
  local told = support.notices()
  vim.cmd('AxeTest')
  support.wait_for('the failure', function()
    return told[#told] == 'axe: 1 failed'
  end)
  local list = vim.fn.getqflist({ title = 1, items = 1 })
  assert(list.title == 'axe tests' and #list.items == 1, vim.inspect(list))
  assert(list.items[1].lnum == 10, vim.inspect(list))
  assert(list.items[1].text == 'asks: lead: turns is 3, more than 1', list.items[1].text)
  vim.cmd('cclose')

  vim.fn.setline(10, 'turns = { max = 3 }')
  vim.cmd('AxeTest asks')
  support.wait_for('the advice to save', function()
    return told[#told]:find('save release.toml first', 1, true)
  end)
  vim.cmd('write')
  support.wait_for('the case among what completes the command', function()
    return vim.deep_equal(vim.fn.getcompletion('AxeTest a', 'cmdline'), { 'asks' })
  end)
  vim.cmd('AxeTest asks')
  support.wait_for('the end of the case', function()
    return told[#told] == 'axe: 1 passed'
  end)
  assert(#vim.fn.getqflist() == 0)

  vim.cmd('new')
  vim.cmd('AxeTest')
  support.wait_for('the end of all tests of the project', function()
    return #told > 3 and told[#told] == 'axe: 1 passed'
  end)
end)
