;; Answering goes wrong, and the user leaves it for good: the agent gets an answer all the same.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defun ask-with (read)
  "Wait for a question and answer it, where READ stands for the choices of Emacs."
  (wait-for "a question" (lambda () axe-lsp-approve--waiting))
  (cl-letf (((symbol-function 'read-multiple-choice) read))
    (axe-answer)))

(play (lambda ()
        (open-agent)
        (add-hook 'axe-lsp-approve-functions (lambda (&rest _) (error "Not counted")) -50)
        (axe-run "")
        (should (equal (condition-case failure
                           (ask-with (lambda (&rest _) (error "No such choice")))
                         (error (cadr failure)))
                       "No such choice"))
        (catch 'top-level
          (ask-with (lambda (&rest _) (throw 'top-level nil))))
        (ask-with (lambda (&rest _) (list ?y)))
        (wait-for-log "✓ manager  ")
        (should-not axe-lsp-approve--asked)))
