;; A stranger's file and a model choose words that turn a text round or that a terminal obeys.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defconst obeyed "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

(defvar seen nil "What the user has seen outside of the runs.")

(play (lambda ()
        (open-agent)
        (cl-letf (((symbol-function 'read-multiple-choice)
                   (lambda (prompt choices &rest _)
                     (push prompt seen)
                     (dolist (choice choices)
                       (push (cadr choice) seen))
                     (with-current-buffer "*axe question*"
                       (push (buffer-string) seen))
                     (car choices)))
                  ((symbol-function 'message)
                   (lambda (form &rest more) (push (apply #'format form more) seen))))
          (axe-run "go")
          (wait-for "a question" (lambda () axe-lsp-approve--waiting))
          (wait-for "what it is about" (lambda () (get-buffer "*axe question*")))
          (push (axe-lsp-runs--label (cadr (car axe-lsp-runs--active))) seen)
          (axe-answer)
          (wait-for-log "the end" "✓ "))
        (cl-assert (cl-some (lambda (text) (string-search "stranger" text)) seen))
        (dolist (text (cons (runs-text) seen))
          (cl-assert (not (string-match-p obeyed text)) nil "%S" text))
        (dolist (mark '("→ " "· " "✓ "))
          (with-current-buffer (axe-lsp-runs-buffer)
            (goto-char (point-min))
            (search-forward mark)
            (axe-lsp-details-show (axe-lsp-tree-item)))
          (with-current-buffer "*axe details*"
            (cl-assert (not (string-match-p obeyed (buffer-string))) nil "%S" (buffer-string))))))
