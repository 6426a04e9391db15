-- An MCP server is started after a question with its command line, and asks something itself.

local support = require('support')

support.play(function()
  local questions = {}
  local answers = { 'Allow', 'Allow this MCP server for this run', 'Allow', 'Accept' }
  vim.ui.select = function(choices, options, on_choice)
    table.insert(questions, options.prompt)
    local wanted = answers[#questions]
    vim.schedule(function()
      for index, choice in ipairs(choices) do
        if (options.format_item or tostring)(choice) == wanted then
          return on_choice(choice, index)
        end
      end
      error('no such choice: ' .. wanted)
    end)
  end
  vim.fn.inputlist = function() -- how older versions show a message with buttons
    return 2
  end
  local shown = 0
  local texts = { 'plain_server.py', 'plain_server.py', 'tell {}', 'May I go on?' }
  vim.api.nvim_create_autocmd('User', {
    pattern = 'AxeQuestion',
    callback = function()
      shown = shown + 1
      assert(support.buffer_with(texts[shown]), 'it is shown before it is answered: ' .. texts[shown])
      vim.schedule(vim.cmd.AxeAnswer)
    end,
  })
  support.wait_for_server()
  vim.cmd('AxeRun Work')
  support.wait_for_log('✓ bot: Work  ')
  assert(questions[1]:match('wants to reach out of this workspace$'), questions[1])
  table.remove(questions, 1)
  local expected = {
    'agent "bot" wants to start the MCP server "plain"',
    'agent "bot" wants to call tell of the MCP server "plain"',
    'MCP server "plain" of agent "bot" asks',
  }
  if vim.fn.has('nvim-0.11') == 0 then
    table.remove(expected)
  else
    assert(shown == #texts, 'all of them are shown')
  end
  assert(vim.deep_equal(questions, expected), vim.inspect(questions))
end)
