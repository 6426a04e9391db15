;; An MCP server is started after a question with its command line, and asks something itself.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar answers (list ?y ?r ?y "Accept"))

(defun answer (prompt choices &rest _)
  "Answer as the user does, who has PROMPT, CHOICES and the details before the eyes."
  (report (format "%s %S" prompt (mapcar (lambda (each) (if (consp each) (nth 1 each) each)) choices)))
  (report (with-current-buffer "*axe question*" (string-trim (buffer-string))))
  (let ((given (pop answers)))
    (if (stringp given) given (list given))))

(play (lambda ()
        (open-agent)
        (cl-letf (((symbol-function 'read-multiple-choice) #'answer)
                  ((symbol-function 'completing-read) #'answer))
          (axe-run "")
          (dotimes (number 4)
            (wait-for "a question" (lambda () axe-lsp-approve--waiting))
            (wait-for "what it is about" (lambda () (get-buffer "*axe question*")))
            (cl-assert (= (length answers) (- 4 number)) nil "a question takes no keys by itself")
            (axe-answer))
          (wait-for-log "✓ bot"))
        (cl-assert (not axe-lsp-approve--asked))
        (when (get-buffer "*axe question*")
          (kill-buffer "*axe question*"))
        (axe-lsp-approve--tell))) ; Nothing is asked and nothing is shown: that is no error.
