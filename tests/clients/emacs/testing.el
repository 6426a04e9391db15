;; A test of an agent fails at the line of its expectation, and passes once that is corrected.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar told nil "What the user was told.")

(play (lambda ()
        (open-agent)
        (cl-letf (((symbol-function 'message)
                   (lambda (form &rest more) (when form (push (apply #'format form more) told)))))
          (axe-test)
          (wait-for "the failure" (lambda () (member "axe: 1 failed" told)))
          (with-current-buffer "*axe tests*"
            (cl-assert (string-search "release.toml:10: asks: lead: turns is 3, more than 1"
                                      (buffer-string))
                       t)
            (cl-assert (derived-mode-p 'compilation-mode)))
          (goto-char (point-min))
          (search-forward "max = 1")
          (replace-match "max = 3")
          (save-buffer)
          (axe-test)
          (wait-for "the end of the test" (lambda () (member "axe: 1 passed" told)))
          (setq told nil)
          (with-temp-buffer
            (axe-test)
            (wait-for "the end of all tests" (lambda () (member "axe: 1 passed" told)))))))
