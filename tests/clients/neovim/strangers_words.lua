-- A stranger's file and a model choose names, arguments and answers that a terminal or a status line would obey.

local support = require('support')

local OBEYED = { '[%z\1-\8\11-\31\127]', '\194[\128-\159]', '\226\128[\142\143\168-\174]', '\226\129[\166-\169]' }

local function assert_harmless(text)
  for _, pattern in ipairs(OBEYED) do
    assert(not text:find(pattern), vim.inspect(text))
  end
end

support.play(function()
  local notices = support.notices()
  local shown, prompt, status = {}, nil, nil
  vim.ui.select = function(choices, options, on_choice)
    prompt = options.prompt
    for _, choice in ipairs(choices) do
      table.insert(shown, options.format_item(choice))
    end
    status = require('axe_lsp').status()
    vim.o.statusline = status -- Plugins put what they are given there as it is.
    vim.cmd('redrawstatus!')
    vim.schedule(function()
      on_choice(choices[1])
    end)
  end
  vim.api.nvim_create_autocmd('User', {
    pattern = 'AxeQuestion',
    callback = function()
      vim.schedule(vim.cmd.AxeAnswer)
    end,
  })
  support.wait_for_server()
  vim.cmd('AxeRun go\27]0;title\7')
  support.wait_for_log('the end', '✓ ')
  assert(vim.g.executed == nil)
  assert(status:find('％{execute', 1, true), vim.inspect(status))
  assert(vim.fn.strchars(prompt) <= 160 and not prompt:find('\n'), vim.inspect(prompt))
  assert_harmless(prompt .. status .. table.concat(shown, ' '))
  assert_harmless(support.runs_text())
  assert_harmless(table.concat(notices, ' '))
  for name in pairs({ ['→ '] = true, ['· '] = true, ['✓ '] = true }) do
    vim.cmd('AxeRuns!')
    vim.fn.search(name, 'w')
    require('axe_lsp.run_buffers').open_item()
    assert_harmless(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n'))
  end
end)
