;; A model asks: the user chooses an answer, writes one, gives none.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar answers (list "SQLite" "DuckDB" ""))

(defun answer (prompt &optional choices &rest _)
  "Answer as the user does, who has PROMPT, CHOICES and the question before the eyes."
  (report (format "%s%S %s" prompt choices
                  (with-current-buffer "*axe question*" (string-trim (buffer-string)))))
  (pop answers))

(play (lambda ()
        (open-agent)
        (cl-letf (((symbol-function 'completing-read) #'answer)
                  ((symbol-function 'read-string) #'answer))
          (axe-run "")
          (dotimes (number 3)
            (wait-for "a question" (lambda () axe-lsp-approve--waiting))
            (wait-for "what it is about" (lambda () (get-buffer "*axe question*")))
            (cl-assert (= (length answers) (- 3 number)) nil "a question takes no keys by itself")
            (axe-answer))
          (wait-for-log "✓ manager"))
        (cl-assert (not axe-lsp-approve--asked))))
