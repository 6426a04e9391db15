-- A test is made of a past run, and its case is shown.

local support = require('support')

support.play(function()
  support.wait_for_server()
  local told, prompt = support.notices(), nil
  vim.ui.select = function(items, options, on_choice)
    prompt = options.prompt
    on_choice(items[1])
  end
  vim.cmd('AxeTestNew')
  support.wait_for('the case', function()
    assert(#told == 0 or told[#told]:find('^axe: case'), told[#told])
    return vim.api.nvim_buf_get_name(0):find('axe/tests/writer.toml', 1, true) ~= nil
  end)
  assert(prompt == 'Make a test of which run?', prompt)
  local line = vim.api.nvim_get_current_line()
  assert(line:find('^name = '), line)
  support.wait_for('the result', function()
    return table.concat(told, '\n'):find('axe: case ".*" passed; results of tools are replayed') ~= nil
  end)
end)
