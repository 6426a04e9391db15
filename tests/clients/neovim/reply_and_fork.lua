-- A completed run is replied to, and forked at its first turn with another model.

local support = require('support')

support.play(function()
  support.wait_for_server()
  vim.cmd('AxeRun When?')
  support.wait_for_log('✓ reader: When?', 'On Friday.')

  local offered
  vim.ui.select = function(runs, options, on_choice)
    offered = options.prompt
    on_choice(runs[#runs]) -- the oldest
  end
  vim.cmd('AxeReply At what time?')
  support.wait_for_log('✓ reader: At what time?', 'At noon.')
  assert(offered == 'Reply to which run?', offered)

  local asked, typed = {}, { 'Sure?' }
  vim.ui.input = function(options, use)
    table.insert(asked, options.prompt .. (options.default or ''))
    use(table.remove(typed, 1))
  end
  vim.cmd('AxeReply')
  support.wait_for_log('✓ reader: Sure?', 'Yes.')

  typed = { '1', 'openai/m-other' }
  vim.cmd('AxeFork')
  support.wait_for_log('On some Friday.')
  assert(offered == 'Fork which run?', offered)
  local expected = { 'Reply to reader: ', 'Fork reader at turn (1 to 1): 1', 'Model: openai/m-reader' }
  assert(vim.deep_equal(asked, expected), vim.inspect(asked))
end)
