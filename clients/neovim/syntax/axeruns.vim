" What agents do, as axe_lsp.tree writes it.

if exists('b:current_syntax')
  finish
endif

syntax match AxeRunsRunning /^ *▶ [^:]*/
syntax match AxeRunsCompleted /^ *✓ [^:]*/
syntax match AxeRunsEnded /^ *✗ [^:]*/
syntax match AxeRunsWaiting /^ *? [^:]*/
syntax match AxeRunsStopped /^ *■ [^:]*/
syntax match AxeRunsTurn /^ *· turn \d\+$/
syntax match AxeRunsText /^ *│.*/ contains=AxeRunsBar,AxeRunsHeading,AxeRunsBold,AxeRunsItalic,AxeRunsCode,AxeRunsBullet
syntax match AxeRunsBar /^ *│/ contained
syntax match AxeRunsThought /^ *\~ .*/
syntax match AxeRunsTool /^ *→ \S\+/
syntax match AxeRunsRetry /^ *⟳ .*/
syntax match AxeRunsProblem /^ *! .*/

" Markdown in the text of an agent. Its marks are hidden, but not in the line of the cursor.
syntax match AxeRunsHeading /\(^ *│ \)\@<=#\{1,6} .*/ contained contains=AxeRunsMark,AxeRunsBold,AxeRunsItalic,AxeRunsCode
syntax match AxeRunsMark /\(^ *│ \)\@<=#\+ / contained conceal
syntax region AxeRunsItalic matchgroup=AxeRunsMark start=/\*\ze[^ *]/ end=/[^ *]\zs\*/ oneline contained concealends
syntax region AxeRunsBold matchgroup=AxeRunsMark start=/\*\*\ze[^ *]/ end=/[^ *]\zs\*\*/ oneline contained concealends
syntax region AxeRunsCode matchgroup=AxeRunsMark start=/`\ze[^`]/ end=/`/ oneline contained concealends
syntax match AxeRunsBullet /\(^ *│ \+\)\@<=[-*]\ze / contained conceal cchar=•
syntax region AxeRunsBlock matchgroup=AxeRunsFence start=/^ *│ *```.*$/ end=/^ *│ *``` *$/ end=/^\ze *[^ │]/ keepend contains=AxeRunsBar

highlight default link AxeRunsHeading Title
highlight default AxeRunsBold term=bold cterm=bold gui=bold
highlight default AxeRunsItalic term=italic cterm=italic gui=italic
highlight default link AxeRunsCode Special
highlight default link AxeRunsBlock Special
highlight default link AxeRunsFence Comment
highlight default link AxeRunsMark Comment
highlight default link AxeRunsRunning Function
highlight default link AxeRunsCompleted String
highlight default link AxeRunsEnded ErrorMsg
highlight default link AxeRunsWaiting WarningMsg
highlight default link AxeRunsStopped Comment
highlight default link AxeRunsTurn Comment
highlight default link AxeRunsBar Comment
highlight default link AxeRunsThought Comment
highlight default link AxeRunsTool Identifier
highlight default link AxeRunsRetry WarningMsg
highlight default link AxeRunsProblem WarningMsg
highlight default link AxeRunsFigures Comment

let b:current_syntax = 'axeruns'
