;; A user of lsp-mode who has started Emacs anew looks at runs of before, in a project that is not trusted now.  -*- lexical-binding: t; -*-

(load (expand-file-name "support-lsp-mode" (file-name-directory load-file-name)))

(defun look-back ()
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt runs &rest _) (car (last (all-completions "" runs))))))
    (axe-runs)
    (let ((buffer (wait-for "the run" (lambda () (cl-find "^\\*axe run [0-9a-f]+\\*$" (buffer-list)
                                                          :key #'buffer-name :test #'string-match-p)))))
      (wait-for "its end" (lambda () (with-current-buffer buffer (string-search "\n  ! cancelled" (shown)))))
      (with-current-buffer buffer
        (cl-assert (string-match "■ manager: Go  [0-9.]+ s · 6 turns · 5 tool calls" (shown)) t (shown))
        (cl-assert (string-search "\n    │ No bugs found.\n" (shown)) t)))))

(play (lambda ()
        (setq axe-lsp-trusted nil)
        (find-file (getenv "AGENT"))
        (lsp)
        (wait-for "the server" #'axe-lsp-runs--own-p)
        (look-back)
        (be-refused)))
