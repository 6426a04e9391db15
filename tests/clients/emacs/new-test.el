;; A test is made of a past run, and its case is visited.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar told nil "What the user was told.")

(play (lambda ()
        (open-agent)
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_ choices &rest _) (car (all-completions "" choices))))
                  ((symbol-function 'message)
                   (lambda (form &rest more) (when form (push (apply #'format form more) told)))))
          (axe-test-new)
          (wait-for "the result"
                    (lambda () (cl-find "^axe: case \".*\" passed; results of tools are replayed" told
                                        :test #'string-match-p)))
          (let ((file (get-file-buffer (expand-file-name "../tests/writer.toml" default-directory))))
            (with-current-buffer file
              (cl-assert (looking-at-p "name = ") t))))))
