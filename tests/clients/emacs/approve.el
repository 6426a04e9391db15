;; An agent asks; the user allows one change, denies another, and is not asked any more.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar answers (list ?y ?n 'wait))

(defun answer (prompt _choices)
  "Answer as the user does, who has PROMPT and the details before the eyes."
  (report prompt)
  (report (with-current-buffer "*axe question*" (format "%s %s" major-mode (buffer-string))))
  (pcase (pop answers)
    ('wait (axe-stop) (while t (be-idle)))
    (key (list key))))

(play (lambda ()
        (open-agent)
        (cl-letf (((symbol-function 'read-multiple-choice) #'answer)
                  ((symbol-function 'read-string) (lambda (&rest _) "not there")))
          (axe-run "")
          (dotimes (number 3)
            (wait-for "a question" (lambda () axe-lsp-approve--waiting))
            (wait-for-log "? manager  openai/manager · waits for your answer")
            (wait-for "what it is about" (lambda () (get-buffer "*axe question*")))
            (cl-assert (= (length answers) (- 3 number)) nil "a question takes no keys by itself")
            (axe-answer))
          (wait-for-log "■ manager  " "\n  ! cancelled"))
        (cl-assert (not axe-lsp-approve--asked))
        (cl-assert (null answers))))
