typedef unsigned int id_t;
typedef id_t handle_t;		/* stands on another one that changes */
typedef void (*callback_t)(int);
typedef int removed_t;
struct s { id_t id; handle_t handle; callback_t call; removed_t old; } s;
