" What agents do, as axe_lsp.tree writes it.

if exists('b:current_syntax')
  finish
endif

syntax match AxeRunsRunning /^ *▶ [^:]*/
syntax match AxeRunsCompleted /^ *✓ [^:]*/
syntax match AxeRunsEnded /^ *✗ [^:]*/
syntax match AxeRunsTurn /^ *· turn \d\+$/
syntax match AxeRunsBar /^ *│/
syntax match AxeRunsThought /^ *\~ .*/
syntax match AxeRunsTool /^ *→ \S\+/
syntax match AxeRunsRetry /^ *⟳ .*/
syntax match AxeRunsProblem /^ *! .*/

highlight default link AxeRunsRunning Function
highlight default link AxeRunsCompleted String
highlight default link AxeRunsEnded ErrorMsg
highlight default link AxeRunsTurn Comment
highlight default link AxeRunsBar Comment
highlight default link AxeRunsThought Comment
highlight default link AxeRunsTool Identifier
highlight default link AxeRunsRetry WarningMsg
highlight default link AxeRunsProblem WarningMsg
highlight default link AxeRunsFigures Comment

let b:current_syntax = 'axeruns'
