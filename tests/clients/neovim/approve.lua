-- A user is asked before agents change something: says no and what to do instead, then allows the rest of the run.

local support = require('support')

support.play(function()
  vim.o.lines = 60
  local questions = {}
  local answers = { 'Deny, and say what to do instead', 'Allow this file for this run', 'Deny', 'Allow' }
  vim.ui.select = function(choices, options, on_choice)
    table.insert(questions, options.prompt .. '|' .. (support.buffer_with('@@') and 'diff' or 'command'))
    local question = vim.fn.bufnr('axe://question')
    local height = vim.api.nvim_win_get_height(vim.fn.bufwinid(question))
    assert(vim.api.nvim_buf_line_count(question) <= height, 'it has room')
    local wanted = answers[#questions]
    vim.schedule(function()
      for _, choice in ipairs(choices) do
        if options.format_item(choice) == wanted then
          return on_choice(choice)
        end
      end
      error('no such choice: ' .. wanted)
    end)
  end
  vim.ui.input = function(_, on_confirm)
    on_confirm('write b.txt')
  end
  local keys = {}
  local function assert_waiting()
    local shown = support.runs_text()
    assert(shown:find('? lead: Work  openai/m-lead · waits for your answer', 1, true), shown)
    assert(#keys > 1 or shown:find('  ? writer: w  openai/m-writer · waits for your answer', 1, true), shown)
    assert(require('axe_lsp').status():find('? ', 1, true) == 1)
  end
  vim.api.nvim_create_autocmd('User', {
    pattern = 'AxeQuestion',
    callback = function()
      table.insert(keys, #questions) -- Nothing takes keys yet: there were as many choices as before.
      assert(support.buffer_with('@@') or support.buffer_with('touch'), 'it is shown before it is answered')
      assert_waiting()
      vim.schedule(vim.cmd.AxeAnswer)
    end,
  })
  support.wait_for_server()
  vim.cmd('AxeRun Work')
  support.wait_for_log('✓ lead: Work  ')
  local writes = 'agent "writer" wants to write '
  local command = 'agent "lead" wants to run a command|command' -- twice at the same time
  local expected = { writes .. 'a.txt|diff', writes .. 'b.txt|diff', command, command }
  assert(vim.deep_equal(questions, expected), vim.inspect(questions))
  local is_old = vim.fn.has('nvim-0.11') == 0 -- There it is asked at once, as no keys are taken otherwise.
  assert(vim.deep_equal(keys, is_old and {} or { 0, 1, 2, 3 }), vim.inspect(keys))
  assert(#vim.api.nvim_list_wins() == 2, 'what was shown beside the questions is away')
end)
