-- A model asks: the user chooses an answer, writes one, gives none; nothing takes keys before :AxeAnswer.

local support = require('support')

support.play(function()
  local prompts = {}
  local answers = { 'SQLite', 'Answer in other words' }
  vim.ui.select = function(choices, options, on_choice)
    table.insert(prompts, options.prompt)
    local wanted = table.remove(answers, 1)
    vim.schedule(function()
      for index, choice in ipairs(choices) do
        if choice == wanted then
          return on_choice(choice, index)
        end
      end
      error('no such choice: ' .. wanted)
    end)
  end
  local numbers = { 3, 0 }
  vim.fn.inputlist = function() -- how older versions show a message with buttons
    return table.remove(numbers, 1)
  end
  local written = { 'DuckDB' }
  vim.ui.input = function(options, on_confirm)
    table.insert(prompts, options.prompt)
    on_confirm(table.remove(written, 1))
  end
  local shown = 0
  vim.api.nvim_create_autocmd('User', {
    pattern = 'AxeQuestion',
    callback = function()
      shown = shown + (support.buffer_with('Which one?') and 1 or 0)
      vim.schedule(vim.cmd.AxeAnswer)
    end,
  })
  support.wait_for_server()
  vim.cmd('AxeRun Work')
  support.wait_for_log('✓ asker: Work  ')
  local asks = 'agent "asker" asks'
  if vim.fn.has('nvim-0.11') == 0 then
    support.report('by a message')
  else
    assert(vim.deep_equal(prompts, { asks, asks, asks .. ': ', asks .. ': ' }), vim.inspect(prompts))
    assert(shown == 3, 'it is shown before it is answered')
    assert(#vim.api.nvim_list_wins() == 2, 'what was shown beside the questions is away')
  end
end)
